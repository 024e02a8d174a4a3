"""Hostile and unusual forms of HTTP/1.1 requests, each with the one response that it gets.

A form is (name, bytes, statuses, text). `statuses` are those of all responses on the connection: a form with one status
below is followed by a well-formed request, which must not be served if the connection ends (what follows a request
that two readers may understand differently is never read). `text` begins the last response's body; None if it is that
of a served call.
"""

PATH = b"/grpc.health.v1.Health/Check"
JSON = b"Content-Type: application/json\r\n"
HOST = b"Host: a\r\n"
NEXT = b"POST " + PATH + b" HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 2\r\n\r\n{}"

LENGTH = "content-length: repeated or invalid"
CODING = "transfer-encoding: unsupported"
BOTH = "content-length: sent beside transfer-encoding"
FIELD = "header field: malformed"
FOLDED = "header field: continued on another line"
LF = "line: ends with a bare LF"
CR = "line: contains a bare CR"
CONTROL = "line: contains a control character"
FORM = "request line: malformed"
METHOD = "request line: invalid method"
TARGET = "request line: invalid target"
VERSION = "request line: unsupported version"
TOO_LONG = "request line: too long"
TOO_LARGE = "header fields: too large"
WRONG_HOST = "host: missing, repeated or invalid"
EXPECT = "expect: unsupported"
CHUNK = "chunk: invalid size"
CHUNK_END = "chunk: not followed by CRLF"
CHUNK_LINE = "chunk: its line is too long"
OVERHEAD = "chunk: too many small chunks"
TRAILER = "trailer field: not allowed"


def request(fields=b"", body=b"", line=b"POST " + PATH + b" HTTP/1.1\r\n", host=HOST, kind=JSON):
    """Returns a request with these fields and this body, whose framing is left to `fields`."""
    return line + host + kind + fields + b"\r\n" + body


def of_length(value, body=b"{}"):
    return request(b"Content-Length:" + value + b"\r\n", body)


def chunked(body, fields=b""):
    return request(b"Transfer-Encoding: chunked\r\n" + fields, body)


def coded(value, more=b""):
    return request(b"Transfer-Encoding:" + value + b"\r\n" + more, b"2\r\n{}\r\n0\r\n\r\n")


def lines(line):
    return request(b"Content-Length: 2\r\n", b"{}", line=line)


LENGTHS = [
    ("length of nothing", of_length(b""), LENGTH),
    ("length of blanks", of_length(b"  \t"), LENGTH),
    ("length with plus", of_length(b" +2"), LENGTH),
    ("length with minus", of_length(b" -2"), LENGTH),
    ("length minus zero", of_length(b" -0"), LENGTH),
    ("length in hex", of_length(b" 0x2"), LENGTH),
    ("length with a letter", of_length(b" 2a"), LENGTH),
    ("length with a point", of_length(b" 2.0"), LENGTH),
    ("length with an exponent", of_length(b" 2e0"), LENGTH),
    ("length with a blank inside", of_length(b" 2 2"), LENGTH),
    ("length with an underscore", of_length(b" 0_2"), LENGTH),
    ("length as a list", of_length(b" 2, 2"), LENGTH),
    ("length as a list of two", of_length(b" 2,3"), LENGTH),
    ("length with a comma", of_length(b" 2,"), LENGTH),
    ("length in quotes", of_length(b' "2"'), LENGTH),
    ("length of 19 digits", of_length(b" 0000000000000000002"), LENGTH),
    ("length above 64 bits", of_length(b" 18446744073709551618"), LENGTH),
    ("length of 1,000 digits", of_length(b" " + b"2" * 1000), LENGTH),
    ("length in Arabic digits", of_length(b" \xd9\xa2"), LENGTH),
    ("length with a semicolon", of_length(b" 2;a=b"), LENGTH),
    ("length twice, equal", request(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"), LENGTH),
    ("length twice, unequal", request(b"Content-Length: 2\r\nContent-Length: 0\r\n", b"{}"), LENGTH),
    ("length twice, other case", request(b"content-length: 2\r\nCONTENT-LENGTH: 2\r\n", b"{}"), LENGTH),
    ("length after a GET", request(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"{}",
                                   line=b"GET " + PATH + b" HTTP/1.1\r\n"), LENGTH),
]

CODINGS = [
    ("coding beside a length", coded(b" chunked", b"Content-Length: 2\r\n"), 400, BOTH),
    ("length before a coding", request(b"Content-Length: 13\r\nTransfer-Encoding: chunked\r\n",
                                       b"2\r\n{}\r\n0\r\n\r\n"), 400, BOTH),
    ("coding beside a length of 0", coded(b" chunked", b"Content-Length: 0\r\n"), 400, BOTH),
    ("coding twice", coded(b" chunked", b"Transfer-Encoding: chunked\r\n"), 501, CODING),
    ("coding twice, one unknown", coded(b" chunked", b"Transfer-Encoding: identity\r\n"), 501, CODING),
    ("coding identity", coded(b" identity"), 501, CODING),
    ("coding gzip", coded(b" gzip"), 501, CODING),
    ("coding gzip, chunked", coded(b" gzip, chunked"), 501, CODING),
    ("coding chunked, chunked", coded(b" chunked, chunked"), 501, CODING),
    ("coding chunked, identity", coded(b" chunked, identity"), 501, CODING),
    ("coding of nothing", coded(b""), 501, CODING),
    ("coding with x before", coded(b" xchunked"), 501, CODING),
    ("coding with x after", coded(b" chunkedx"), 501, CODING),
    ("coding in quotes", coded(b' "chunked"'), 501, CODING),
    ("coding with a parameter", coded(b" chunked;q=1"), 501, CODING),
    ("coding with a comma before", coded(b" ,chunked"), 501, CODING),
    ("coding with a comma after", coded(b" chunked,"), 501, CODING),
    ("coding with a vertical tab", coded(b" \x0bchunked"), 400, CONTROL),
    ("coding with a form feed", coded(b"\x0cchunked"), 400, CONTROL),
    ("coding with a NUL", coded(b" chunked\x00"), 400, CONTROL),
    ("coding with a byte 0xa0", coded(b" \xa0chunked"), 501, CODING),
    ("coding with a blank before the colon", request(b"Transfer-Encoding : chunked\r\n",
                                                     b"0\r\n\r\n"), 400, FIELD),
    ("coding with a tab before the colon", request(b"Transfer-Encoding\t: chunked\r\n",
                                                   b"0\r\n\r\n"), 400, FIELD),
    ("coding with a blank before the name", request(b" Transfer-Encoding: chunked\r\n",
                                                    b"0\r\n\r\n"), 400, FOLDED),
    ("coding on the next line", request(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"), 501, CODING),
    ("coding after a bare LF", request(b"X: y\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), 400, LF),
    ("coding after a bare CR", request(b"X: y\rTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), 400, CR),
]

FIELDS = [
    ("name without a colon", request(b"Nothing\r\n"), 400, FIELD),
    ("name that is empty", request(b": x\r\n"), 400, FIELD),
    ("name with a blank inside", request(b"X A: b\r\n"), 400, FIELD),
    ("name with a blank after", request(b"X : b\r\n"), 400, FIELD),
    ("name with a NUL", request(b"X\x00: b\r\n"), 400, CONTROL),
    ("name with a slash", request(b"X/y: b\r\n"), 400, FIELD),
    ("name with brackets", request(b"X(y): b\r\n"), 400, FIELD),
    ("name beyond ASCII", request(b"X\xc3\xa4: b\r\n"), 400, FIELD),
    ("name with DEL", request(b"X\x7f: b\r\n"), 400, CONTROL),
    ("value with a NUL", request(b"X: a\x00b\r\n"), 400, CONTROL),
    ("value with a bell", request(b"X: a\x07b\r\n"), 400, CONTROL),
    ("value with DEL", request(b"X: a\x7fb\r\n"), 400, CONTROL),
    ("value with a bare CR", request(b"X: a\rb\r\n"), 400, CR),
    ("value with two CRs", request(b"X: a\r\r\n"), 400, CR),
    ("value with a bare LF", request(b"X: a\nY: b\r\n"), 400, LF),
    ("all lines end with LF", NEXT.replace(b"\r\n", b"\n"), 400, LF),
    ("head ends with LF", request(b"X: a\r\n")[:-2] + b"\n", 400, LF),
    ("folded by a blank", request(b"X: a\r\n b\r\n"), 400, FOLDED),
    ("folded by a tab", request(b"X: a\r\n\tb\r\n"), 400, FOLDED),
    ("folded line of a blank", request(b"X: a\r\n \r\n"), 400, FOLDED),
    ("folded first line", b"POST " + PATH + b" HTTP/1.1\r\n " + HOST + JSON + b"\r\n", 400, FOLDED),
    ("101 fields", request(b"X: y\r\n" * 99), 431, TOO_LARGE),
    ("10,000 fields", request(b"X: y\r\n" * 10000), 431, TOO_LARGE),
    ("field of 9 KiB", request(b"X: " + b"y" * 9216 + b"\r\n"), 431, TOO_LARGE),
    ("field without an end", request(b"X: " + b"y" * 100000), 431, TOO_LARGE),
    ("fields of 17 KiB", request((b"X: " + b"y" * 4300 + b"\r\n") * 4), 431, TOO_LARGE),
    ("expect something else", request(b"Expect: 200-ok\r\nContent-Length: 2\r\n", b"{}"), 417, EXPECT),
    ("expect nothing", request(b"Expect:\r\nContent-Length: 2\r\n", b"{}"), 417, EXPECT),
    ("expect two things", request(b"Expect: 100-continue, x\r\nContent-Length: 2\r\n", b"{}"), 417, EXPECT),
]

HOSTS = [
    ("no host", b""),
    ("host of nothing", b"Host:\r\n"),
    ("host twice, equal", HOST * 2),
    ("host twice, unequal", HOST + b"Host: b\r\n"),
    ("host as a list", b"Host: a, b\r\n"),
    ("host with a blank", b"Host: a b\r\n"),
    ("host with a path", b"Host: a/b\r\n"),
    ("host with a user", b"Host: user@a\r\n"),
    ("host with a query", b"Host: a?b\r\n"),
    ("host with a fragment", b"Host: a#b\r\n"),
    ("host with a backslash", b"Host: a\\b\r\n"),
    ("host in quotes", b'Host: "a"\r\n'),
    ("host beyond ASCII", b"Host: \xc3\xa4\r\n"),
]

LINES = [
    ("no version", lines(b"POST " + PATH + b"\r\n"), 400, FORM),
    ("only a method", lines(b"POST\r\n"), 400, FORM),
    ("two blanks after the method", lines(b"POST  " + PATH + b" HTTP/1.1\r\n"), 400, FORM),
    ("two blanks before the version", lines(b"POST " + PATH + b"  HTTP/1.1\r\n"), 400, FORM),
    ("blank at the end", lines(b"POST " + PATH + b" HTTP/1.1 \r\n"), 400, FORM),
    ("blank at the start", lines(b" POST " + PATH + b" HTTP/1.1\r\n"), 400, FORM),
    ("tabs for blanks", lines(b"POST\t" + PATH + b"\tHTTP/1.1\r\n"), 400, FORM),
    ("version in lower case", lines(b"POST " + PATH + b" http/1.1\r\n"), 400, FORM),
    ("version with a zero", lines(b"POST " + PATH + b" HTTP/1.01\r\n"), 400, FORM),
    ("version without a minor", lines(b"POST " + PATH + b" HTTP/1\r\n"), 400, FORM),
    ("version of ICAP", lines(b"POST " + PATH + b" ICAP/1.0\r\n"), 400, FORM),
    ("version 0.9", lines(b"POST " + PATH + b" HTTP/0.9\r\n"), 505, VERSION),
    ("version 1.0", lines(b"POST " + PATH + b" HTTP/1.0\r\n"), 505, VERSION),
    ("version 1.2", lines(b"POST " + PATH + b" HTTP/1.2\r\n"), 505, VERSION),
    ("version 9.9", lines(b"POST " + PATH + b" HTTP/9.9\r\n"), 505, VERSION),
    ("preface of HTTP/2, wrong at its end", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX", 505, VERSION),
    ("method with brackets", lines(b"P(ST) " + PATH + b" HTTP/1.1\r\n"), 400, METHOD),
    ("method beyond ASCII", lines(b"P\xc3\x96ST " + PATH + b" HTTP/1.1\r\n"), 400, METHOD),
    ("method of 17 letters", lines(b"POSTPOSTPOSTPOSTP " + PATH + b" HTTP/1.1\r\n"), 400, METHOD),
    ("method with a colon", lines(b"POST: " + PATH + b" HTTP/1.1\r\n"), 400, METHOD),
    ("method with a NUL", lines(b"POS\x00T " + PATH + b" HTTP/1.1\r\n"), 400, CONTROL),
    ("target absolute", lines(b"POST http://a" + PATH + b" HTTP/1.1\r\n"), 400, TARGET),
    ("target of CONNECT", lines(b"CONNECT a:80 HTTP/1.1\r\n"), 400, TARGET),
    ("target * of a POST", lines(b"POST * HTTP/1.1\r\n"), 400, TARGET),
    ("target without a slash", lines(b"POST x HTTP/1.1\r\n"), 400, TARGET),
    ("target with a fragment", lines(b"POST " + PATH + b"#x HTTP/1.1\r\n"), 400, TARGET),
    ("target with quotes", lines(b'POST /"x" HTTP/1.1\r\n'), 400, TARGET),
    ("target with a backslash", lines(b"POST \\x HTTP/1.1\r\n"), 400, TARGET),
    ("target beyond ASCII", lines(b"POST /\xc3\xa4 HTTP/1.1\r\n"), 400, TARGET),
    ("target with a NUL", lines(b"POST /\x00 HTTP/1.1\r\n"), 400, CONTROL),
    ("target with a bare CR", lines(b"POST /\rx HTTP/1.1\r\n"), 400, CR),
    ("line ends with LF", lines(b"POST " + PATH + b" HTTP/1.1\n"), 400, LF),
    ("line of 9 KiB", lines(b"POST /" + b"x" * 9216 + b" HTTP/1.1\r\n"), 414, TOO_LONG),
    ("line without an end", b"POST /" + b"x" * 100000, 414, TOO_LONG),
    ("two empty lines before", b"\r\n\r\n" + NEXT, 400, FORM),
    ("LF before", b"\n" + NEXT, 400, LF),
    ("record of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, CONTROL),
    ("line of SSH", b"SSH-2.0-OpenSSH_9.2\r\n", 400, FORM),
    ("line of SMTP", b"EHLO a\r\n", 400, FORM),
    ("command of Redis", b"*1\r\n$4\r\nPING\r\n", 400, FORM),
    ("header of PROXY", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + NEXT, 400, FORM),
]

CHUNKS = [
    ("size of nothing", chunked(b"\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size with plus", chunked(b"+2\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size with minus", chunked(b"-2\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size with 0x", chunked(b"0x2\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size with a blank before", chunked(b" 2\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size with a letter", chunked(b"2g\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size of 9 digits", chunked(b"000000002\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size above 64 bits", chunked(b"10000000000000002\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size as a list", chunked(b"2,2\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size with an underscore", chunked(b"0_2\r\n{}\r\n0\r\n\r\n"), CHUNK),
    ("size ends with LF", chunked(b"2\n{}\r\n0\r\n\r\n"), LF),
    ("size ends with CR", chunked(b"2\r{}\r\n0\r\n\r\n"), CR),
    ("extension with LF", chunked(b"2;x\ny\r\n{}\r\n0\r\n\r\n"), LF),
    ("extension with CR", chunked(b"2;x\ry\r\n{}\r\n0\r\n\r\n"), CR),
    ("extension with a NUL", chunked(b"2;x\x00\r\n{}\r\n0\r\n\r\n"), CONTROL),
    ("extension of 300 bytes", chunked(b"2;" + b"x" * 300 + b"\r\n{}\r\n0\r\n\r\n"), CHUNK_LINE),
    ("chunk that ends too late", chunked(b"2\r\n{} \r\n0\r\n\r\n"), CHUNK_END),
    ("chunk that ends too early", chunked(b"3\r\n{}\r\n0\r\n\r\n"), LF),
    ("chunk that ends with LF", chunked(b"2\r\n{}\n0\r\n\r\n"), LF),
    ("chunk without an end", chunked(b"2\r\n{}0\r\n\r\n"), CHUNK_END),
    ("chunks of one byte", chunked(b"1;" + b"x" * 100 + b"\r\n{\r\n" + (b"1;" + b"x" * 100 + b"\r\n \r\n") * 300),
     OVERHEAD),
    ("trailer length", chunked(b"2\r\n{}\r\n0\r\nContent-Length: 2\r\n\r\n"), TRAILER),
    ("trailer coding", chunked(b"2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"), TRAILER),
    ("trailer host", chunked(b"2\r\n{}\r\n0\r\nHost: b\r\n\r\n"), TRAILER),
    ("trailer folded", chunked(b"2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n"), FOLDED),
    ("trailer malformed", chunked(b"2\r\n{}\r\n0\r\nX y\r\n\r\n"), FIELD),
    ("trailer with LF", chunked(b"2\r\n{}\r\n0\r\nX: y\n\r\n"), LF),
    ("last chunk ends with LF", chunked(b"2\r\n{}\r\n0\r\n\n"), LF),
]

# Forms that have one meaning, though they are unusual: the connection continues, and the next request is served.
SERVED = [
    ("length with zeros before", of_length(b" 002")),
    ("length between tabs", of_length(b"\t2\t")),
    ("coding in upper case", coded(b" CHUNKED")),
    ("size with zeros before", chunked(b"00000002\r\n{}\r\n0\r\n\r\n")),
    ("size in upper case, of 10", chunked(b"A\r\n{        }\r\n0\r\n\r\n")),
    ("last chunk of many zeros", chunked(b"2\r\n{}\r\n00000\r\n\r\n")),
    ("extension that is ignored", chunked(b"2;x=y\r\n{}\r\n0;z\r\n\r\n")),
    ("trailer that is ignored", chunked(b"2\r\n{}\r\n0\r\nX: y\r\n\r\n")),
    ("body of no chunks", chunked(b"0\r\n\r\n")),
    ("one empty line before", b"\r\n" + NEXT),
    ("98 fields", request(b"X: y\r\n" * 97 + b"Content-Length: 2\r\n", b"{}")),
    ("upgrade to h2c, not taken", request(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                          b"HTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 2\r\n", b"{}")),
    ("value beyond ASCII", request(b"X: \xc3\xa4\xff\r\nContent-Length: 2\r\n", b"{}")),
    ("host with a port", request(b"Content-Length: 2\r\n", b"{}", host=b"Host: a:8080\r\n")),
    ("host of IPv6", request(b"Content-Length: 2\r\n", b"{}", host=b"Host: [::1]:8080\r\n")),
]


def all_forms():
    """Returns every form as (name, bytes, statuses, text)."""
    refused = [(name, data, 400, text) for name, data, text in LENGTHS + CHUNKS]
    refused += CODINGS + FIELDS + LINES
    refused += [(name, request(b"Content-Length: 2\r\n", b"{}", host=host), 400, WRONG_HOST) for name, host in HOSTS]
    return ([(name, data, [status], text) for name, data, status, text in refused]
            + [(name, data, [200, 200], None) for name, data in SERVED])
