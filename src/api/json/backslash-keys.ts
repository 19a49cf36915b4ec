/**
 * Whether this process has ever made an object with a backslash in a key. It is the one thing about a process that the
 * native JSON parser must be guarded by (`native-json.ts`); it never becomes false again, as V8 does not forget either.
 */
let made = false

/** Must be called for every key that a user chose. */
export function noteKey(key: string): void {
  if (!made && key.includes('\\')) made = true
}

/** Whether the native parser may confuse keys from now on. */
export function backslashKeysWereMade(): boolean {
  return made
}
