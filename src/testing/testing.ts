/** The entry `orch/testing`: a real API server inside a test. Whatever stands here is public: see docs/testing.md. */
export type { Call, CallLog, CallMatch } from './call-log.ts'
export type { Failure, PlannedFailure } from './failure.ts'
export type { KubeconfigObject, TestKubeconfig } from './kubeconfigs.ts'
export type { Snapshot } from './snapshot.ts'
export { startTestServer } from './start-test-server.ts'
export type { ServerClock } from './test-clock.ts'
export type { TestServer, TestServerOptions, TestUser, UserOptions } from './test-server.ts'
