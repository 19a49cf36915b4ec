/** Errors of Node that say that this machine has no room for another connection, and nothing of the other side. */

const codes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** Whether a call failed because this machine has no room for another connection. */
export function isOwnLimit({ code = '' }: NodeJS.ErrnoException): boolean {
  return codes.has(code)
}
