/** The flags that say where to go, and as whom: the same for every command, and accepted before its name too. */

import { flag, repeated, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import { refusedFlags } from '../program/refused-flags.ts'

export const connectionFlags = {
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'the client config to use; else $ORCHCONFIG or $KUBECONFIG, ~/.kube/config, ./.orch/admin.kubeconfig',
  }),
  context: flag({
    name: 'context',
    value: 'NAME',
    read: text,
    help: 'the context of the client config to use; else its current one',
  }),
  cluster: flag({
    name: 'cluster',
    value: 'NAME',
    read: text,
    help: 'the cluster of the client config to use; else that of the context',
  }),
  configUser: flag({
    name: 'user',
    value: 'NAME',
    read: text,
    help: 'the user of the client config to be; else that of the context',
  }),
  server: flag({
    name: 'server',
    letter: 's',
    value: 'URL',
    read: readServer,
    help: 'the server to talk to; else that of the context',
  }),
  namespace: flag({
    name: 'namespace',
    letter: 'n',
    value: 'NAME',
    read: text,
    help: 'the namespace to look in; else that of the context, else default',
  }),
  certificateAuthority: flag({
    name: 'certificate-authority',
    value: 'FILE',
    read: text,
    help: 'who may have signed the certificate of the server',
  }),
  insecure: toggle({
    name: 'insecure-skip-tls-verify',
    help: 'talk to the server whatever its certificate is: anybody could be it',
  }),
  tlsServerName: flag({
    name: 'tls-server-name',
    value: 'NAME',
    read: text,
    help: 'the name that the certificate of the server must be for',
  }),
  clientCertificate: flag({
    name: 'client-certificate',
    value: 'FILE',
    read: text,
    help: 'the certificate to present to the server',
  }),
  clientKey: flag({ name: 'client-key', value: 'FILE', read: text, help: 'the key of that certificate' }),
  token: flag({ name: 'token', value: 'TOKEN', read: text, help: 'the bearer token to present to the server' }),
  basicUser: flag({
    name: 'username',
    value: 'NAME',
    read: text,
    help: 'the name to present to the server, with a password',
  }),
  basicPassword: flag({ name: 'password', value: 'PASSWORD', read: text, help: 'the password of that name' }),
  as: flag({
    name: 'as',
    value: 'USER',
    read: text,
    help: 'act as this user, if that is allowed: system:serviceaccount:NAMESPACE:NAME, alice',
  }),
  asGroup: repeated({ name: 'as-group', value: 'GROUP', read: text, help: 'act as a member of this group' }),
  asUid: flag({ name: 'as-uid', value: 'UID', read: text, help: 'act with this UID: with --as' }),
  requestTimeout: flag({
    name: 'request-timeout',
    value: 'TIME',
    default: '0',
    read: readRequestTimeout,
    help: 'how long an answer may take, and with -w the watch: 5s, 1m; 0: a good minute, and a watch without end',
  }),
  warningsAsErrors: toggle({
    name: 'warnings-as-errors',
    help: 'fail, at the end, where the server warned of something',
  }),
  matchServerVersion: toggle({
    name: 'match-server-version',
    help: 'refuse to talk to a server of another version than orchctl',
  }),
  verbosity: flag({
    name: 'v',
    letter: 'v',
    value: 'LEVEL',
    default: '0',
    read: readLevel,
    help: '5: say that a watch was ended by its timeout; 6: show each request and how long it took; 7: with headers; 8: with bodies; 9: with whole bodies, and as a call of curl',
  }),
  ...refusedFlags,
}

/** Milliseconds. A bare number is seconds, as users of kubectl write it. */
export function readTime(value: string): number {
  const ms = parseDuration(/^\d{1,9}$/.test(value) ? `${value}s` : value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a time such as 5s or 1m30s`)
  return ms
}

function readRequestTimeout(value: string): number {
  try {
    return readTime(value)
  } catch {
    throw new UsageError(`Invalid timeout value ${JSON.stringify(value)}: write a time such as 5s or 1m30s`)
  }
}

function readLevel(value: string): number {
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a level from 0 to 10`)
  return Number(value)
}

/** An address without a scheme is one of https. */
function readServer(value: string): string {
  const address = value === '' || /^\w+:\/\//.test(value) ? value : `https://${value}`
  if (address !== '' && !(URL.canParse(address) && ['https:', 'http:'].includes(new URL(address).protocol)))
    throw new UsageError(`${JSON.stringify(value)} is not an address such as https://127.0.0.1:6443`)
  return address
}
