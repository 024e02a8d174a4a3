"""Samples a running erratad every ten seconds: its process, its counters, and the end of its log."""
import os
import threading
import time

from erratad import Client, admin, event_service


def process_numbers(pid):
    """Memory in KB, descriptors and threads; None if the process has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            status = dict(line.split(":", 1) for line in f if ":" in line)
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    return {"rss_kb": int(status["VmRSS"].split()[0]), "rss_anon_kb": int(status["RssAnon"].split()[0]),
            "rss_file_kb": int(status["RssFile"].split()[0]), "threads": int(status["Threads"]),
            "descriptors": descriptors}


def cpu_seconds(pid):
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Sampler:
    """Takes samples on a thread until it is stopped."""

    def __init__(self, server, tokens, period_s=10.0):
        self.server = server
        self.period_s = period_s
        self.admin = server.client()
        self.orgs = [Client(server.address, token) for token in tokens]
        self.samples = []
        self.missed = 0
        self.started = time.monotonic()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopping.set()
        self.thread.join()

    def _run(self):
        due = time.monotonic()
        while not self.stopping.is_set():
            try:
                self.samples.append(self.take())
            except Exception as e:  # a sample that could not be taken is counted and reported
                self.missed += 1
                print(f"no sample: {e!r}"[:300], flush=True)
            due += self.period_s
            self.stopping.wait(max(due - time.monotonic(), 0.1))

    def count_events(self):
        """Events stored, of all organisations: logs are numbered without gaps."""
        newest = event_service.ListEventsRequest(page_size=1)
        return sum(org.log.ListEvents(newest, timeout=30).events[0].seq for org in self.orgs)

    def counters(self):
        info = self.admin.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=30)
        return {counter.name: counter.value for counter in info.counters}

    def take(self):
        counters = self.counters()
        events = self.count_events()
        worker = self.server.worker()
        worker_numbers = process_numbers(worker) if worker else None
        return {
            "at": time.monotonic() - self.started,
            **process_numbers(self.server.process.pid),
            "cpu_s": cpu_seconds(self.server.process.pid),
            "pdf_rss_anon_kb": worker_numbers["rss_anon_kb"] if worker_numbers else 0,
            "events": events,
            "map_used_bytes": counters["map_used_bytes"],
            "heap_kb": counters["heap_used_bytes"] // 1024,
            "readers": counters["store_readers"],
            "reader_lag_commits": counters["store_reader_lag_commits"],
            "commits": counters["commits_total"],
            "calls": counters["calls_total"],
            "calls_live": counters["calls_live"],
            "streams_live": counters["streams_live"],
            "connections_live": counters["connections_live"],
            "write_queue_requests": counters["write_queue_requests"],
        }
