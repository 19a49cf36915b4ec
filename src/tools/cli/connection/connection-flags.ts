/**
 * Flags that select the server and the user. Every command accepts them, and they may also precede the command name.
 */

import { flag, repeated, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import { refusedFlags } from '../program/refused-flags.ts'

export const connectionFlags = {
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'kubeconfig file; default: $ORCHCONFIG or $KUBECONFIG, then ~/.kube/config, then ./.orch/admin.kubeconfig',
  }),
  context: flag({
    name: 'context',
    value: 'NAME',
    read: text,
    help: 'kubeconfig context; default: the current context',
  }),
  cluster: flag({
    name: 'cluster',
    value: 'NAME',
    read: text,
    help: "kubeconfig cluster; default: the context's cluster",
  }),
  configUser: flag({
    name: 'user',
    value: 'NAME',
    read: text,
    help: "kubeconfig user to authenticate as; default: the context's user",
  }),
  server: flag({
    name: 'server',
    letter: 's',
    value: 'URL',
    read: readServer,
    help: "URL of the API server; default: the context's server",
  }),
  namespace: flag({
    name: 'namespace',
    letter: 'n',
    value: 'NAME',
    read: text,
    help: 'namespace to use; default: the context\'s namespace, or the namespace "default" if the context sets none',
  }),
  certificateAuthority: flag({
    name: 'certificate-authority',
    value: 'FILE',
    read: text,
    help: "PEM file with the CA that signed the server's certificate",
  }),
  insecure: toggle({
    name: 'insecure-skip-tls-verify',
    help: "skip verification of the server's certificate (insecure)",
  }),
  tlsServerName: flag({
    name: 'tls-server-name',
    value: 'NAME',
    read: text,
    help: "host name for which the server's certificate must be valid; default: the host name in the URL",
  }),
  clientCertificate: flag({
    name: 'client-certificate',
    value: 'FILE',
    read: text,
    help: 'PEM file with the client certificate',
  }),
  clientKey: flag({
    name: 'client-key',
    value: 'FILE',
    read: text,
    help: 'PEM file with the private key of the client certificate',
  }),
  token: flag({ name: 'token', value: 'TOKEN', read: text, help: 'bearer token for authentication' }),
  basicUser: flag({
    name: 'username',
    value: 'NAME',
    read: text,
    help: 'user name for basic authentication',
  }),
  basicPassword: flag({ name: 'password', value: 'PASSWORD', read: text, help: 'password for basic authentication' }),
  as: flag({
    name: 'as',
    value: 'USER',
    read: text,
    help: 'user to impersonate, such as alice or system:serviceaccount:NAMESPACE:NAME',
  }),
  asGroup: repeated({ name: 'as-group', value: 'GROUP', read: text, help: 'group to impersonate' }),
  asUid: flag({ name: 'as-uid', value: 'UID', read: text, help: 'with --as: UID to impersonate' }),
  requestTimeout: flag({
    name: 'request-timeout',
    value: 'TIME',
    default: '0',
    read: readRequestTimeout,
    help: 'request timeout, such as 5s or 1m; 0 means about a minute, and no limit for watches',
  }),
  warningsAsErrors: toggle({
    name: 'warnings-as-errors',
    help: 'exit with an error if the server sends a warning',
  }),
  matchServerVersion: toggle({
    name: 'match-server-version',
    help: 'fail if the versions of the server and orchctl differ',
  }),
  verbosity: flag({
    name: 'v',
    letter: 'v',
    value: 'LEVEL',
    default: '0',
    read: readLevel,
    help: 'log verbosity: 5 logs watch timeouts, 6 adds requests with their durations, 7 adds headers, 8 adds truncated bodies, 9 adds full bodies and curl commands',
  }),
  ...refusedFlags,
}

/** Parses a duration and returns milliseconds. A bare number means seconds, as in kubectl. */
export function readTime(value: string): number {
  const ms = parseDuration(/^\d{1,9}$/.test(value) ? `${value}s` : value)
  if (ms === undefined)
    throw new UsageError(`${JSON.stringify(value)} is not a valid duration: use a duration such as 5s or 1m30s`)
  return ms
}

function readRequestTimeout(value: string): number {
  try {
    return readTime(value)
  } catch {
    throw new UsageError(`Invalid timeout value ${JSON.stringify(value)}: use a duration such as 5s or 1m30s`)
  }
}

function readLevel(value: string): number {
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a valid log level: use 0 to 10`)
  return Number(value)
}

/** Parses a server URL. The default scheme is https. */
function readServer(value: string): string {
  const address = value === '' || /^\w+:\/\//.test(value) ? value : `https://${value}`
  if (address !== '' && !(URL.canParse(address) && ['https:', 'http:'].includes(new URL(address).protocol)))
    throw new UsageError(`${JSON.stringify(value)} is not a valid URL: use a URL such as https://127.0.0.1:6443`)
  return address
}
