/**
 * The entry point `orch/client` for browsers: the client over `fetch`, and `connect`, which accepts the URL of the
 * server.
 */
export { type ConnectOptions, connect } from '../requests/fetch-connect.ts'
export * from './client-everywhere.ts'
