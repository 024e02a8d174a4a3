# The client of a Redis stream: limits of replies, commands, states on a simulated clock; no server.
errata_test(redis_tests DIR tests/unit/redis USES redis LABELS unit)
