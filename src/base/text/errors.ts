/** What is known of something that was thrown, which may be anything. */

/**
 * Whether it is an error, whichever realm made it: test runners such as Jest load this code into a realm of its own, to which
 * the errors of Node are strangers by `instanceof`. Browsers that cannot tell yet have one realm.
 */
export const isError: (thrown: unknown) => thrown is Error =
  (Error as { isError?: (thrown: unknown) => thrown is Error }).isError ?? ((thrown) => thrown instanceof Error)

/** What the error says, for people. */
export function messageOf(error: unknown): string {
  return isError(error) ? error.message : String(error)
}

/** The code of an error of the system, such as `ENOENT`; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
