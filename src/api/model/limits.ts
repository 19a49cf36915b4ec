/** How large a document may be: what a client sends, and what a schema makes of it. */
export const maxBodyBytes = 3 * 1024 * 1024
/**
 * How many values a body may hold, and an object that is stored: members and elements, on all levels. What is done with
 * each takes some microseconds, so that 3 MiB of the shortest would hold the server for seconds; no object of use comes
 * near.
 */
export const maxValues = 100_000
