include(${CMAKE_CURRENT_LIST_DIR}/power_cut.cmake)

# Disks that fail, are slow, or end a program in the middle.
errata_python_test(fault_disk_doubt FILE tests/fault/disk_doubt.py LABEL fault)
errata_python_test(fault_disk_failing FILE tests/fault/disk_failing.py LABEL fault)
errata_python_test(fault_full_disk FILE tools/full-disk LABEL fault TIMEOUT 300 ARGUMENTS --short
                   FullTmpfs.test_full_disk_under_load_recovers SmallExt4.test_disk_that_is_full_at_the_start_does_not_prevent_a_later_one
                   FullExt4.test_server_killed_on_a_full_disk_starts_again)
errata_python_test(fault_crash_points FILE tools/crash-points LABEL fault ARGUMENTS --points 8 --seed 1)
errata_python_test(fault_crash_points_of_rebuild FILE tools/crash-points LABEL fault
                   ARGUMENTS --rebuild --points 4 --calls 25 --seed 1)
errata_python_test(fault_crash_points_of_restore FILE tools/crash-points LABEL fault
                   ARGUMENTS --restore --points 6 --calls 12 --seed 1)
errata_python_test(fault_crash_points_of_increment FILE tools/crash-points LABEL fault
                   ARGUMENTS --increment --points 6 --calls 48 --seed 1)
errata_python_test(fault_crash_points_of_deletion FILE tools/crash-points LABEL fault
                   ARGUMENTS --deletion --points 4 --calls 60 --seed 1)
errata_python_test(fault_crash_points_of_deletion_lmdb FILE tools/crash-points LABEL fault
                   ARGUMENTS --deletion --points 4 --calls 60 --seed 2 ENVIRONMENT ERRATA_LOG=lmdb)
errata_python_test(fault_disk_errors_of_restore FILE tools/disk-errors LABEL fault
                   ARGUMENTS --restore --points 6 --calls 12 --seed 1)
errata_python_test(fault_disk_errors FILE tools/disk-errors LABEL fault
                   ARGUMENTS --points 4 --calls 80 --seed 1)
errata_python_test(fault_power_cut FILE tools/power-cut LABEL fault
                   ARGUMENTS --images 16 --commit 8 --creation 8 --recovery 8 --starts 2 --steps 20 --seed 1)

# A process that is killed, lacks memory, or is started on damaged files.
errata_python_test(fault_kill9 FILE tools/kill9 LABEL fault TIMEOUT 180 ARGUMENTS --rounds 10 --seed 1)
errata_python_test(fault_redis_kills FILE tools/redis-kills LABEL fault ARGUMENTS --rounds 8 --seed 1)
errata_python_test(fault_damaged_data FILE tools/damaged-data LABEL fault TIMEOUT 180
                   ARGUMENTS --images 46 --large 0 --seed 1)
errata_python_test(fault_failing_malloc FILE tools/failing-malloc LABEL fault TIMEOUT 180
                   ARGUMENTS --places 3 --storms 1 --seed 1)
errata_python_test(fault_clock_jumps FILE tools/clock-jumps LABEL fault TIMEOUT 180 ARGUMENTS --rounds 1 --seed 1)

# Small segments of the journal, which are used again.
errata_python_test(fault_power_cut_tiny FILE tools/power-cut LABEL fault
                   ARGUMENTS --tiny --images 6 --commit 4 --creation 2 --recovery 4 --segment 4 --starts 1 --steps 18 --seed 2)
errata_python_test(fault_power_cut_chain FILE tools/power-cut LABEL fault
                   ARGUMENTS --tiny --slow db:20 --chain 2 --life-images 3 --seed 3)

# The same tests without a journal: the log is in the tables.
errata_python_test(fault_full_disk_lmdb FILE tools/full-disk LABEL fault ARGUMENTS --short
                   FullTmpfs.test_full_disk_under_load_recovers ENVIRONMENT ERRATA_LOG=lmdb)
errata_python_test(fault_kill9_lmdb FILE tools/kill9 LABEL fault TIMEOUT 180 ARGUMENTS --rounds 6 --seed 2
                   ENVIRONMENT ERRATA_LOG=lmdb)
errata_python_test(fault_crash_points_lmdb FILE tools/crash-points LABEL fault ARGUMENTS --points 8 --seed 2
                   ENVIRONMENT ERRATA_LOG=lmdb)
errata_python_test(fault_disk_errors_lmdb FILE tools/disk-errors LABEL fault
                   ARGUMENTS --points 4 --calls 80 --seed 2 ENVIRONMENT ERRATA_LOG=lmdb)
errata_python_test(fault_power_cut_lmdb FILE tools/power-cut LABEL fault
                   ARGUMENTS --images 8 --commit 8 --creation 4 --recovery 4 --starts 1 --steps 18 --seed 1
                   ENVIRONMENT ERRATA_LOG=lmdb)
