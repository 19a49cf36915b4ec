/** Error codes of Node for local resource limits on connections. The remote server does not cause such errors. */

const codes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** Whether a call failed because of a local resource limit. */
export function isOwnLimit({ code = '' }: NodeJS.ErrnoException): boolean {
  return codes.has(code)
}
