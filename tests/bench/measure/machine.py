"""Placement of processes on CPUs, and their resource usage."""
import contextlib
import os
import platform
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", ".."))
TICK = os.sysconf("SC_CLK_TCK")
SERVER_CORE, LOAD_CORE = "0", "1"


def real_time(priority):
    """The command chrt, if this user may use it."""
    command = ["chrt", "-f", str(priority)]
    works = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if works else []


REAL_TIME = real_time(20)
ON_SERVER_CORE = [*REAL_TIME, "taskset", "-c", SERVER_CORE]
ON_LOAD_CORE = [*REAL_TIME, "taskset", "-c", LOAD_CORE]
LOWER_ON_LOAD_CORE = [*real_time(10), "taskset", "-c", LOAD_CORE]


@contextlib.contextmanager
def urgent():
    """Raises the priority of this program, so that it can sample while both cores are busy."""
    if REAL_TIME:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(30))
    try:
        yield
    finally:
        if REAL_TIME:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def quietly(*command):
    subprocess.run(list(map(str, command)), check=False, stdout=subprocess.DEVNULL)


def cpu_seconds(pid):
    """Returns user and system time of a process, without its children."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def status_kb(pid, name):
    """A line of /proc/PID/status, such as VmRSS; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return int(next(line for line in f if line.startswith(name + ":")).split()[1])
    except (OSError, StopIteration):
        return 0


def move_other_threads(pid):
    """The reactor has the server's core; the writer and the pool run on the load's core, after the
    load. On one core with a real-time reactor they would never run, or always: libuv waits with
    sched_yield for a thread that is about to wake it, which does not yield to a lower priority."""
    if not REAL_TIME:
        return
    for thread in os.listdir(f"/proc/{pid}/task"):
        if int(thread) != pid:
            quietly("chrt", "-f", "-p", 10, thread)
            quietly("taskset", "-p", "-c", LOAD_CORE, thread)


def set_class(pid, real_time_class):
    """Places the reactor on its core in the real-time class, and the other threads after the load;
    or the whole server in the ordinary class on both cores, as it runs without tuning."""
    if real_time_class:
        quietly("taskset", "-p", "-c", SERVER_CORE, pid)
        quietly("chrt", "-f", "-p", 20, pid)
        move_other_threads(pid)
        return
    for thread in os.listdir(f"/proc/{pid}/task"):
        quietly("chrt", "-o", "-p", 0, thread)
        quietly("taskset", "-p", "-c", f"{SERVER_CORE},{LOAD_CORE}", thread)


def first_line(path, start):
    with open(path, encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith(start)), "")


def package_versions(*names):
    """Returns Debian's versions of the programs that are compared."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *names],
                          capture_output=True, text=True, check=False)
    return dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)


def facts():
    """Returns the properties of the machine that are needed to interpret the figures."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True,
                            capture_output=True, check=False).stdout.strip()
    return {"cpu": first_line("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
            "memory_mb": int(first_line("/proc/meminfo", "MemTotal").split()[0]) // 1024,
            "kernel": platform.release(), "real_time": bool(REAL_TIME), "commit": commit,
            "load_before": os.getloadavg()[0],
            "packages": package_versions("libgrpc++1.51", "libnghttp2-14", "nghttp2-server",
                                         "libuv1", "liblmdb0")}
