/** Interceptors of every call: the token, the idempotency key of a write, and repetitions while the server is away. */
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";

/** Returns the token; called for each call, and again after the server refused one. */
export type TokenSource = (refused: boolean) => string | undefined | Promise<string | undefined>;

/** Waits between attempts: doubled from the first up to the last, each drawn between half and all of it. */
const BACKOFF_FIRST_MS = 50;
const BACKOFF_LAST_MS = 2_000;

/** Returns a new idempotency key. Pages without TLS have no `crypto.randomUUID`. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Adds the token to every call. */
export function authorize(token: TokenSource): Interceptor {
  return (next) => async (request) => {
    const first = await token(false);
    if (first !== undefined) {
      request.header.set("authorization", `Bearer ${first}`);
    }
    try {
      return await next(request);
    } catch (problem) {
      const renewed = ConnectError.from(problem).code === Code.Unauthenticated && !request.stream
        ? await token(true) : undefined;
      if (renewed === undefined || renewed === first) {
        throw problem;
      }
      request.header.set("authorization", `Bearer ${renewed}`);
      return next(request);
    }
  };
}

/** Repeats unary calls within their time limit; a write carries one idempotency key through all attempts. */
export function repeat(): Interceptor {
  return (next) => async (request) => {
    if (request.stream) {
      return next(request);
    }
    if (request.method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
        && !request.header.has("idempotency-key")) {
      request.header.set("idempotency-key", newKey());
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request);
      } catch (problem) {
        const error = ConnectError.from(problem);
        const untrusted = reasonNotTrusted(error);
        if (untrusted !== undefined) {
          throw new ConnectError(`tls: ${untrusted}; expected a certificate that this program trusts (NODE_EXTRA_CA_CERTS)`,
            Code.Unavailable, undefined, undefined, error.cause);
        }
        if (!isAway(error) || request.signal.aborted) {
          throw error;
        }
        await pause(Math.min(BACKOFF_LAST_MS, BACKOFF_FIRST_MS * 2 ** Math.min(attempt, 16)), request.signal, error);
      }
    }
  };
}

/** Returns whether the server refuses calls for now, or can't be reached. */
function isAway(error: ConnectError): boolean {
  // fetch reports a lost or refused connection as a TypeError, which becomes Unknown or Internal.
  return error.code === Code.Unavailable || (error.cause instanceof TypeError && error.code !== Code.Canceled);
}

/** Returns why the server's certificate is not trusted; undefined for another error. Only a person can mend it. */
function reasonNotTrusted(error: ConnectError): string | undefined {
  const cause = error.cause instanceof TypeError ? error.cause.cause : undefined;
  const isOfCertificate = cause instanceof Error && "code" in cause && typeof cause.code === "string"
    && /CERT|SIGNATURE|ISSUER|SELF_SIGNED|ALTNAME/.test(cause.code);
  return isOfCertificate ? `the server's certificate is not trusted: ${cause.message}` : undefined;
}

function pause(ms: number, signal: AbortSignal, error: ConnectError): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms * (0.5 + Math.random() / 2));
    const stop = (): void => {
      clearTimeout(timer);
      reject(error);
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
