#!/usr/bin/python3
"""Reviews in the background queue of the C client library, against a real server.

Goal: a run never waits for its review and never fails because of it; each review is stored once, or its loss is
reported. Method: bin/client_reviews_driver adds reviews while the server is running, down, or restarted.
"""
import collections
import os
import subprocess

from client_driver import Proxy
from erratad import BIN, ServerCase, main, review_service, roles

REVIEWS = 220
REFUSED = REVIEWS // 11
WAIT_US_MAX = 500_000  # an addition copies some bytes; on a busy machine its thread may be preempted


class Reviews(ServerCase):
    def setUp(self):
        org = self.admin.create_org(self.id().rsplit(".", 1)[1])
        token = self.admin.create_token(roles.ROLE_SERVICE, org_id=org.id).secret
        self.client = self.server.client(token)
        self.addCleanup(self.client.close)
        self.token_file = os.path.join(self.server.data, f"{org.id}.token")
        with open(self.token_file, "w", encoding="ascii") as file:
            file.write(token + "\n")

    def start(self, address, queue_max=REVIEWS, drain_ms=60_000):
        """Starts the driver; returns it after all additions, and the number of reviews that did not
        fit."""
        driver = subprocess.Popen(
            [os.path.join(BIN, "client_reviews_driver"), address, self.token_file, str(REVIEWS), str(queue_max),
             str(drain_ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(driver.stdout.close)
        self.addCleanup(driver.wait)
        lines = []
        while not lines or not lines[-1].startswith("added "):
            lines.append(driver.stdout.readline())
            self.assertTrue(lines[-1], lines)
        _, longest_us, busy = lines.pop().split()
        self.assertLess(int(longest_us), WAIT_US_MAX)
        return driver, int(busy), lines

    def end(self, driver, lines):
        """(number of stored reviews, [reason and run of the others])."""
        out, _ = driver.communicate("\n", timeout=100)
        self.assertEqual(driver.returncode, 0)
        lines += out.splitlines()
        stored = next(int(line.split()[1]) for line in lines if line.startswith("stored "))
        return stored, [line.split(" ", 2) for line in lines if not line.startswith("stored ")]

    def runs(self):
        return collections.Counter(one.run_id for one in self.client.all_pages(
            self.client.reviews.ListReviews, review_service.ListReviewsRequest(page_size=1000), "reviews"))

    def expect_all(self, stored, dropped):
        wanted = {f"run-{n}": 1 for n in range(REVIEWS) if n % 11 != 10}
        self.assertEqual((stored, dict(self.runs())), (len(wanted), wanted))
        self.assertEqual(len(dropped), REFUSED)
        for reason, run, message in dropped:
            self.assertEqual((reason, int(run.removeprefix("run-")) % 11, "review.subcategory" in message),
                             ("refused", 10, True))

    def test_each_review_is_stored_once_or_refused_with_its_reason(self):
        driver, busy, lines = self.start(self.server.address)
        self.assertEqual(busy, 0)
        self.expect_all(*self.end(driver, lines))

    def test_reviews_wait_for_a_server_that_is_away(self):
        proxy = Proxy(self.server.address)
        address, port = proxy.address, int(proxy.address.rsplit(":", 1)[1])
        proxy.close()
        driver, busy, lines = self.start(address)
        self.assertEqual((busy, self.runs()), (0, {}))
        back = Proxy(self.server.address, port)
        self.addCleanup(back.close)
        self.expect_all(*self.end(driver, lines))

    def test_queue_is_bounded(self):
        proxy = Proxy(self.server.address)
        address = proxy.address
        proxy.close()
        driver, busy, lines = self.start(address, queue_max=10, drain_ms=0)
        self.assertEqual(busy, REVIEWS - 10)
        stored, dropped = self.end(driver, lines)
        self.assertEqual((stored, len(dropped), {one[0] for one in dropped}), (0, 10, {"closed"}))
        self.assertEqual(self.runs(), {})


if __name__ == "__main__":
    main()
