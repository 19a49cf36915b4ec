/** Functions for caught values, which may be of any type. */

/**
 * Whether the value is an error, even of another realm. Test runners such as Jest load this code into a separate realm,
 * where `instanceof` fails for errors of Node.js. Browsers without `Error.isError` have only one realm.
 */
export const isError: (thrown: unknown) => thrown is Error =
  (Error as { isError?: (thrown: unknown) => thrown is Error }).isError ?? ((thrown) => thrown instanceof Error)

/** Returns the human-readable message of an error. */
export function messageOf(error: unknown): string {
  return isError(error) ? error.message : String(error)
}

/** Returns the code of a system error, such as `ENOENT`. Undefined if there is none. */
export function codeOf(error: unknown): string | undefined {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
