/**
 * Records whether this process has ever created an object with a backslash in a key. If so, the native JSON parser must
 * be guarded (`native-json.ts`). The flag is never reset, because V8 remembers such keys for the lifetime of the
 * process.
 */
let made = false

/** Records whether a key contains a backslash. The function must be called with every user-defined key. */
export function noteKey(key: string): void {
  if (!made && key.includes('\\')) made = true
}

/** Whether an object with a backslash in a key has been created. If so, the native parser may confuse keys. */
export function backslashKeysWereMade(): boolean {
  return made
}
