/**
 * Node's error codes for local resource limits on connections. The remote server is not responsible for these errors.
 */

const codes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** Whether a call failed because of a local resource limit, such as too many open files. */
export function isOwnLimit({ code = '' }: NodeJS.ErrnoException): boolean {
  return codes.has(code)
}
