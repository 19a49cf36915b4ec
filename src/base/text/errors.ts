/** Examines thrown values. In JavaScript, any value can be thrown. */

/**
 * Whether a thrown value is an error, even from another realm. Test runners such as Jest load this code into a separate
 * realm, where `instanceof` fails for the errors of Node.js. Browsers without `Error.isError` have only one realm.
 */
export const isError: (thrown: unknown) => thrown is Error =
  (Error as { isError?: (thrown: unknown) => thrown is Error }).isError ?? ((thrown) => thrown instanceof Error)

/** Returns the human-readable message of a thrown value. */
export function messageOf(error: unknown): string {
  return isError(error) ? error.message : String(error)
}

/** Returns the code of a system error, such as `ENOENT`, or undefined if the error has none. */
export function codeOf(error: unknown): string | undefined {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
