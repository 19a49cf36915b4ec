/** The entry `orch/client` for Node: the client, and `connect`, which finds the server in a client config or is told it. */

export * from './client-everywhere.ts'
export { type ConnectOptions, connect } from './connect.ts'
