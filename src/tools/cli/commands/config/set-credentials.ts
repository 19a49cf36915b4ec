/** `orchctl config set-credentials`: sets fields of a user in the kubeconfig. */

import type { JsonObject } from '../../../../api/json/json.ts'
import {
  flag,
  ifGiven,
  type OptionsOf,
  oneOf,
  repeated,
  text,
  toggle,
  UsageError,
} from '../../../../base/flags/flags.ts'
import { readVariable } from '../../arguments/pairs.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags } from './config-files.ts'
import { fileField, setConfigEntry } from './set-entry.ts'

const flags = {
  token: ifGiven(flag({ name: 'token', value: 'TOKEN', read: text, help: 'bearer token of the user' })),
  clientCertificate: ifGiven(
    flag({ name: 'client-certificate', value: 'FILE', read: text, help: 'PEM client certificate of the user' }),
  ),
  clientKey: ifGiven(
    flag({ name: 'client-key', value: 'FILE', read: text, help: 'PEM private key of the client certificate' }),
  ),
  embedCerts: toggle({
    name: 'embed-certs',
    help: 'embed the contents of the certificate and key files in the kubeconfig',
  }),
  username: ifGiven(flag({ name: 'username', value: 'NAME', read: text, help: 'user name for basic authentication' })),
  password: ifGiven(
    flag({ name: 'password', value: 'PASSWORD', read: text, help: 'password for basic authentication' }),
  ),
  execCommand: flag({
    name: 'exec-command',
    value: 'PROGRAM',
    read: text,
    help: 'credential plugin: the command that returns credentials',
  }),
  execArg: repeated({
    name: 'exec-arg',
    value: 'ARGUMENT',
    read: text,
    help: 'argument to pass to the credential plugin',
  }),
  execEnv: repeated({
    name: 'exec-env',
    value: 'NAME=VALUE',
    read: text,
    help: 'environment variable to set for the credential plugin, as NAME=VALUE',
  }),
  execApiVersion: flag({
    name: 'exec-api-version',
    value: 'VERSION',
    read: text,
    help: "API version of the credential plugin's ExecCredential",
  }),
  authProvider: flag({
    name: 'auth-provider',
    value: 'oidc',
    read: oneOf(['', 'oidc']),
    help: 'authentication provider: oidc, for tokens from an OpenID Connect provider',
  }),
  authProviderArg: repeated({
    name: 'auth-provider-arg',
    value: 'KEY=VALUE',
    read: text,
    help: 'provider settings: idp-issuer-url, client-id, client-secret, id-token, refresh-token',
  }),
  kubeconfig: configFlags.kubeconfig,
}

export const setCredentialsCommand = defineCommand({
  name: 'config set-credentials',
  forms: ['NAME [flags]'],
  about: 'Set the credentials of a user. Create the user if it does not exist.',
  examples: [
    'orchctl config set-credentials me --token=abc',
    'orchctl config set-credentials me --exec-command=login --exec-arg=--cluster --exec-arg=prod --exec-api-version=client.authentication.orch.io/v1',
    'orchctl config set-credentials me --client-certificate=me.crt --client-key=me.key --embed-certs',
  ],
  flags,
  run: async (context, { options, words }) => {
    const { token, clientCertificate, clientKey, embedCerts: embed, kubeconfig } = options
    const certificate = fileField(context, 'client-certificate', { file: clientCertificate, embed })
    const key = fileField(context, 'client-key', { file: clientKey, embed })
    const dropped = [
      ...forms('client-certificate', clientCertificate),
      ...forms('client-key', clientKey),
      ...(token ? ['tokenFile'] : []),
      ...(options.username ? ['token', 'tokenFile'] : []),
    ]
    await setConfigEntry(context, {
      sort: 'user',
      title: 'User',
      kubeconfig,
      words,
      fields: {
        token,
        username: options.username,
        password: options.password,
        ...certificate,
        ...key,
        ...execOf(options),
        ...providerOf(options),
      },
      dropped,
    })
  },
})

/** Returns the kubeconfig field `exec`, which configures a credential plugin, as set by the flags. */
function execOf({ execCommand, execArg, execEnv, execApiVersion }: OptionsOf<typeof flags>): { exec?: JsonObject } {
  const hasExecFlags = execCommand !== '' || execApiVersion !== '' || execArg.length > 0 || execEnv.length > 0
  if (!hasExecFlags) return {}
  if (execCommand === '' || execApiVersion === '')
    throw new UsageError('a credential plugin requires --exec-command and --exec-api-version')
  const env = execEnv.map((pair) => readVariable(pair, '--exec-env'))
  return {
    exec: {
      apiVersion: execApiVersion,
      command: execCommand,
      ...(execArg.length > 0 && { args: [...execArg] }),
      ...(env.length > 0 && { env }),
      interactiveMode: 'IfAvailable',
    },
  }
}

/**
 * Returns the kubeconfig field `auth-provider`, as set by the flags. It replaces the user's existing provider
 * completely.
 */
function providerOf({ authProvider: name, authProviderArg }: OptionsOf<typeof flags>): JsonObject {
  if (name === '' && authProviderArg.length === 0) return {}
  if (name === '') throw new UsageError('--auth-provider-arg requires --auth-provider=oidc')
  const config = authProviderArg.map((pair) => readVariable(pair, '--auth-provider-arg'))
  return { 'auth-provider': { name, config: Object.fromEntries(config.map(({ name, value }) => [name, value])) } }
}

/** Returns the path field and the data field for a file, because setting one of them removes the other. */
function forms(field: string, file: string | undefined): string[] {
  return file ? [field, `${field}-data`] : []
}
