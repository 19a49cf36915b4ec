/**
 * Entry point `orch/client` for Node: the client, and `connect`, which reads a kubeconfig or takes the URL of the
 * server.
 */

export * from './client-everywhere.ts'
export { type ConnectOptions, connect } from './connect.ts'
