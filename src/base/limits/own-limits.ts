/** Error codes of Node for local resource limits on connections. The remote side is not the cause of such errors. */

const codes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** Whether a call failed because of a local resource limit. */
export function isOwnLimit({ code = '' }: NodeJS.ErrnoException): boolean {
  return codes.has(code)
}
