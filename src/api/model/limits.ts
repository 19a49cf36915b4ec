/** Maximum size in bytes of a request body, and of any document that results from expanding a schema. */
export const maxBodyBytes = 3 * 1024 * 1024
/**
 * Maximum number of values in a body and in a stored object, counting members and elements on all levels. Processing a
 * value takes some microseconds, so 3 MiB of the shortest values would block the server for seconds. In practice,
 * objects stay far below the limit.
 */
export const maxValues = 100_000
