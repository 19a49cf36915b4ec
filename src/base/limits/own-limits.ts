/** Error codes of Node for local resource limits on connections, which do not concern the remote side. */

const codes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** Whether a call failed because of a local resource limit. */
export function isOwnLimit({ code = '' }: NodeJS.ErrnoException): boolean {
  return codes.has(code)
}
