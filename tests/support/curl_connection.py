"""Requests over HTTP/2 in cleartext by libcurl, in the shape of http.client.HTTPConnection.

Each has a connection of its own: libcurl 7.88 fails to use one again that HTTP/2 was assumed for.
"""
import ctypes
import unittest

LIBRARY = "libcurl.so.4"
# Of curl/curl.h: the kind of an option's value, then its number.
LONG, TEXT, FUNCTION = 0, 10000, 20000
TIMEOUT_MS, NO_SIGNAL, VERSION, POST_BYTES = LONG + 155, LONG + 99, LONG + 84, LONG + 60
NO_REUSE = LONG + 75
URL, POST_FIELDS, FIELDS, VERB = TEXT + 2, TEXT + 15, TEXT + 23, TEXT + 36
ON_BODY, ON_FIELD = FUNCTION + 11, FUNCTION + 79
STATUS, USED_VERSION = 0x200002, 0x20002e
PRIOR_KNOWLEDGE, HTTP2 = 5, 3
SECONDS = 60

Callback = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.c_size_t,
                            ctypes.c_void_p)


def library():
    """Returns libcurl; None if it is not installed."""
    try:
        curl = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    for name in ("curl_easy_init", "curl_slist_append"):
        getattr(curl, name).restype = ctypes.c_void_p
    return curl


class Response:
    """What http.client's response has, as far as it is used."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def getheaders(self):
        return self.fields

    def read(self):
        return self.body


class CurlConnection:
    """Requests one after the other. A test that makes one is skipped without libcurl."""

    def __init__(self, host, port):
        self.address = f"{host}:{port}"
        self.curl = library()
        if self.curl is None:
            raise unittest.SkipTest(f"{LIBRARY} is not installed")
        self.handle = ctypes.c_void_p(self.curl.curl_easy_init())
        self.lines, self.body = [], []
        self.callbacks = tuple(Callback(self._taker(target)) for target in (self.lines, self.body))
        for option, value in ((VERSION, PRIOR_KNOWLEDGE), (NO_SIGNAL, 1), (TIMEOUT_MS, SECONDS * 1000), (NO_REUSE, 1)):
            self._set(option, ctypes.c_long(value))
        for option, callback in zip((ON_FIELD, ON_BODY), self.callbacks):
            self._set(option, callback)

    @staticmethod
    def _taker(target):
        def take(data, size, count, _):
            target.append(ctypes.string_at(data, size * count))
            return size * count
        return take

    def _set(self, option, value):
        assert self.curl.curl_easy_setopt(self.handle, ctypes.c_int(option), value) == 0, option

    def _info(self, kind):
        value = ctypes.c_long()
        assert self.curl.curl_easy_getinfo(self.handle, ctypes.c_int(kind), ctypes.byref(value)) == 0, kind
        return value.value

    def request(self, verb, target, body, fields):
        body = body.encode() if isinstance(body, str) else body
        names = None
        for name, value in fields.items():
            names = ctypes.c_void_p(self.curl.curl_slist_append(names, f"{name}: {value}".encode()))
        self.lines.clear()
        self.body.clear()
        self._set(URL, f"http://{self.address}{target}".encode())
        self._set(FIELDS, names)
        self._set(POST_BYTES, ctypes.c_long(len(body or b"")))
        self._set(POST_FIELDS, body)
        self._set(VERB, verb.encode())
        failed = self.curl.curl_easy_perform(self.handle)
        self.curl.curl_slist_free_all(names)
        assert failed == 0, f"libcurl's error {failed}: {verb} {target}"
        assert self._info(USED_VERSION) == HTTP2

    def getresponse(self):
        pairs = (line.decode("latin-1").strip().partition(": ") for line in self.lines[1:])
        return Response(self._info(STATUS), [(name, value) for name, _, value in pairs if name], b"".join(self.body))

    def close(self):
        self.curl.curl_easy_cleanup(self.handle)
        self.handle = None
