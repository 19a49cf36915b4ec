/** The entry `orch/client` for browsers: the client over `fetch`, and `connect`, which is told where the server is. */
export { type ConnectOptions, connect } from '../requests/fetch-connect.ts'
export * from './client-everywhere.ts'
