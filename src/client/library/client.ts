/**
 * The entry point `orch/client` for Node.js: the client, and `connect`, which reads a kubeconfig or accepts the URL of
 * the server.
 */

export * from './client-everywhere.ts'
export { type ConnectOptions, connect } from './connect.ts'
