/**
 * Entry point `orch/testing`: a real API server for tests. All exports are public and documented in
 * docs/test-an-operator/typescript.md.
 */
export type { Call, CallLog, CallMatch } from './call-log.ts'
export type { Failure, PlannedFailure } from './failure.ts'
export type { KubeconfigObject, TestKubeconfig } from './kubeconfigs.ts'
export type { Snapshot } from './snapshot.ts'
export { startTestServer } from './start-test-server.ts'
export type { ServerClock } from './test-clock.ts'
export type { TestServer, TestServerOptions, TestUser, UserOptions } from './test-server.ts'
