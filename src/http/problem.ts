/**
 * Problem documents (RFC 9457): how every REST route says no. `code` is stable; `detail` says how to mend it.
 * @module
 */

/** One rule that a request broke. `path` leads to the field, as in `grant.connectors[1]`. */
export interface BrokenRule {
  readonly path?: string
  readonly rule: string
  readonly detail: string
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** A problem document as a response. `more` are further members, such as `errors`. */
export function problem(
  status: number,
  code: string,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  const document = { type: 'about:blank', title: TITLES[status] ?? 'Error', status, code, detail, ...more }
  return new Response(JSON.stringify(document), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  })
}

/** 422 with every rule that was broken. */
export function brokenRules(errors: readonly BrokenRule[]): Response {
  return problem(422, 'invalid_request', errors.map(({ detail }) => detail).join(' '), { errors })
}

/** 404 for a thing that is not there. */
export function notFound(what: string): Response {
  return problem(404, 'not_found', what)
}
