/** The signals that can stop a container. They depend on the operating system. */
import { type FieldError, type FieldPath, forbidden, notSupported } from '../../../model/field-error.ts'

const named = [
  'SIGABRT',
  'SIGALRM',
  'SIGBUS',
  'SIGCHLD',
  'SIGCLD',
  'SIGCONT',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGIO',
  'SIGIOT',
  'SIGKILL',
  'SIGPIPE',
  'SIGPOLL',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGSEGV',
  'SIGSTKFLT',
  'SIGSTOP',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGWINCH',
  'SIGXCPU',
  'SIGXFSZ',
]

const fromOneTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

/** Names of real-time signals count upward from the first signal or downward from the last. */
const realTime = [
  'SIGRTMIN',
  ...fromOneTo(15).map((n) => `SIGRTMIN+${n}`),
  ...fromOneTo(14).map((n) => `SIGRTMAX-${n}`),
  'SIGRTMAX',
]

const signals: { readonly [os: string]: readonly string[] } = {
  linux: [...named, ...realTime].sort(),
  windows: ['SIGKILL', 'SIGTERM'],
}

/** Validates the stop signal of a container whose pod has the given operating system. */
export function checkStopSignal(signal: string, os: string, path: FieldPath): FieldError[] {
  if (os === '') return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')]
  const supported = Object.hasOwn(signals, os) ? signals[os]! : []
  return supported.includes(signal) || supported.length === 0 ? [] : [notSupported(path, signal, supported)]
}
