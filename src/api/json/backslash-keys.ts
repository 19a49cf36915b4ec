/**
 * Records whether this process has ever created an object with a backslash in a key. The native JSON parser must be
 * guarded from then on (`native-json.ts`). It never becomes false again because V8 does not forget either.
 */
let made = false

/** Must be called for every user-defined key. */
export function noteKey(key: string): void {
  if (!made && key.includes('\\')) made = true
}

/** Whether the native parser may confuse keys from now on. */
export function backslashKeysWereMade(): boolean {
  return made
}
