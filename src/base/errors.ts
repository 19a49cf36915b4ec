/** What is known of something that was thrown, which may be anything. */

/** What the error says, for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of the system, such as `ENOENT`; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
