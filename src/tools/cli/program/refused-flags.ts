/**
 * Global kubectl flags that have no purpose in orchctl. A value that matches orchctl's behavior is accepted, so that
 * scripts keep working. Any other value is rejected with an explanation rather than silently ignored.
 */
import { refusedFlag } from '../../../base/flags/flags.ts'

const noLog = 'orchctl writes no log; -v=6 to -v=9 print requests to stderr, which 2>FILE saves'
const noCache = 'orchctl caches nothing: it queries the server each time'
const noProfile = 'this flag profiles Go programs; to profile orchctl, set NODE_OPTIONS=--cpu-prof'

export const refusedFlags = {
  cacheDir: refusedFlag('cache-dir', noCache, { value: 'DIR' }),
  profile: refusedFlag('profile', noProfile, { value: 'NAME', accepted: 'none' }),
  profileOutput: refusedFlag('profile-output', noProfile, { value: 'FILE' }),
  addDirHeader: refusedFlag('add-dir-header', noLog, { accepted: 'false' }),
  alsoLogToStderr: refusedFlag('alsologtostderr', noLog, { accepted: 'false' }),
  logToStderr: refusedFlag('logtostderr', noLog, { accepted: 'true' }),
  logBacktraceAt: refusedFlag('log-backtrace-at', noLog, { value: 'PLACE', accepted: ':0' }),
  logDir: refusedFlag('log-dir', noLog, { value: 'DIR' }),
  logFile: refusedFlag('log-file', noLog, { value: 'FILE' }),
  logFileMaxSize: refusedFlag('log-file-max-size', noLog, { value: 'MEGABYTES' }),
  logFlushFrequency: refusedFlag('log-flush-frequency', noLog, { value: 'TIME' }),
  oneOutput: refusedFlag('one-output', noLog, { accepted: 'false' }),
  skipHeaders: refusedFlag('skip-headers', noLog),
  skipLogHeaders: refusedFlag('skip-log-headers', noLog),
  stderrThreshold: refusedFlag('stderrthreshold', noLog, { value: 'LEVEL' }),
  vmodule: refusedFlag('vmodule', noLog, { value: 'PATTERN=LEVEL,...' }),
}
