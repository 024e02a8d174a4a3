/*
 * fault_point.c: the driver that decides whether a point fails, in builds with ERRATA_FAULTS. It is
 * a global variable, since points can be anywhere and have no parameter for it.
 */
#include "store/base/fault_point.h"

#ifdef ERRATA_FAULTS

#include <stddef.h>

static struct fault_driver **driver_place(void)
{
    /* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above */
    static struct fault_driver *driver;

    return &driver;
}

void fault_point_set_driver(struct fault_driver *driver)
{
    *driver_place() = driver;
}

bool fault_point_fails(const char *name)
{
    struct fault_driver *driver = *driver_place();

    return driver != NULL && driver->fails(driver, name);
}

#endif
