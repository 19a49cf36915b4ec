/** Flags of what operators look into a running server with. */
import { flag, readBoolean, text } from '../../base/flags/flags.ts'

export const diagnosticsFlags = {
  profiling: flag({
    name: 'profiling',
    default: 'true',
    read: readBoolean,
    help: 'serve profiles of processor time and memory below /debug/pprof, to members of system:masters alone',
  }),
  tracingConfigFile: flag({
    name: 'tracing-config-file',
    value: 'FILE',
    read: text,
    help: 'TracingConfiguration file; spans of requests are sent to its endpoint by OTLP over HTTP, in JSON',
  }),
}
