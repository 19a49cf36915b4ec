/** Commands that users of kubectl know and that are not built here: they are told so, and not that they misspelt. */
const names = new Set(['alpha', 'certificate csr'])

/** Whether the words name such a command: `logs`, `auth reconcile`. */
export function isNotBuilt(words: string): boolean {
  return names.has(words)
}
