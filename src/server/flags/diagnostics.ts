/** Defines the flags for diagnosing a running server. */
import { flag, readBoolean, text } from '../../base/flags/flags.ts'

export const diagnosticsFlags = {
  profiling: flag({
    name: 'profiling',
    default: 'true',
    read: readBoolean,
    help: 'serve CPU and memory profiles at /debug/pprof to members of system:masters',
  }),
  tracingConfigFile: flag({
    name: 'tracing-config-file',
    value: 'FILE',
    read: text,
    help: 'TracingConfiguration file; the server exports request spans over OTLP/HTTP as JSON to the endpoint in the file',
  }),
}
