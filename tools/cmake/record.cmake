# Messages of the server's own as views: targets `record` (<record/NAME.views.h>), the stored rows, and `pdf_record`
# (<worker/pdf_worker.views.h>), what the PDF worker answers; and their numbers (<record/NAME.fields.h> ...), targets
# `record_fields` and `pdf_record_fields`.

# errata_own_views(TARGET protos...)
function(errata_own_views target)
    set(files ${ARGN})
    list(TRANSFORM files PREPEND ${errata_proto}/)
    set(depends ${files} ${errata_proto_files} ${errata_plugin_files})
    errata_outputs(fields_outputs ${target}_fields "${ARGN}" .fields.h)
    errata_plugin_command(fields_command ${target}_fields fields)
    errata_generated(${target}_fields OUTPUTS ${fields_outputs} COMMAND ${fields_command} ${ARGN} DEPENDS ${depends})
    errata_outputs(views_outputs ${target} "${ARGN}" .views.h .views.c)
    errata_plugin_command(views_command ${target} views)
    errata_generated(${target} OUTPUTS ${views_outputs} COMMAND ${views_command} ${ARGN} DEPENDS ${depends}
                     USES base ${target}_fields)
endfunction()

file(GLOB errata_record_protos RELATIVE ${errata_proto} CONFIGURE_DEPENDS ${errata_proto}/record/*.proto)
errata_own_views(record ${errata_record_protos})
errata_own_views(pdf_record worker/pdf_worker.proto)
