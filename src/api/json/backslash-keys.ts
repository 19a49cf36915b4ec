/**
 * Records whether this process has ever created an object that has a backslash in a key. From then on, the native JSON
 * parser must be guarded (`native-json.ts`). The flag is never reset, because V8 does not forget such keys either.
 */
let made = false

/** Checks a key for a backslash. Must be called for every user-defined key. */
export function noteKey(key: string): void {
  if (!made && key.includes('\\')) made = true
}

/** Whether the native parser may confuse keys from now on. */
export function backslashKeysWereMade(): boolean {
  return made
}
