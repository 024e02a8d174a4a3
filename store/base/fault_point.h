/*
 * fault_point.h: points at which a debug build can be made to fail. FAULT("name") is a condition:
 * false in a release build, where it costs nothing; in a build with ERRATA_FAULTS it asks the
 * driver that a test or a simulation has set.
 *     if (FAULT("store.commit")) {
 *         return ERR_IO;
 *     }
 * A point is placed only where the outside world can fail, and takes the same path as that failure.
 * Names are `module.what`, each used at one place; tests/tidy has the list of them.
 */
#ifndef ERRATA_STORE_BASE_FAULT_POINT_H
#define ERRATA_STORE_BASE_FAULT_POINT_H

#include <stdbool.h>

#ifdef ERRATA_FAULTS

/* Decides whether a point fails now. Called by any thread that reaches a point. */
struct fault_driver {
    bool (*fails)(struct fault_driver *driver, const char *name);
};

/* NULL: nothing fails. Set while no other thread runs; the driver outlives its use. */
void fault_point_set_driver(struct fault_driver *driver);
bool fault_point_fails(const char *name);

#define FAULT(name) __builtin_expect(fault_point_fails(name), false)

#else

#define FAULT(name) false

#endif

#endif
