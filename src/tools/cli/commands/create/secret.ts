/** Implements `orchctl create secret generic|tls|docker-registry`. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { vendorKey } from '../../../../api/model/vendor.ts'
import { flag, text, UsageError } from '../../../../base/flags/flags.ts'
import { codeOf } from '../../../../base/text/errors.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Context } from '../../program/command.ts'
import { dataFlags, readData } from './data-sources.ts'
import { appendHashFlag, defineGenerator } from './generator.ts'

export const createSecretGenericCommand = defineGenerator({
  name: 'secret generic',
  about: 'Create a Secret from literals and files.',
  examples: ['orchctl create secret generic login --from-literal=user=me --from-file=password=pw.txt'],
  flags: {
    ...dataFlags,
    appendHash: appendHashFlag,
    type: flag({ name: 'type', value: 'TYPE', read: text, help: 'type of the secret; default: Opaque' }),
  },
  type: kinds.Secret,
  make: (options, { context }) => ({
    ...(options.type === '' ? {} : { type: options.type }),
    data: Object.fromEntries([...readData(context, options)].map(([key, value]) => [key, value.toString('base64')])),
  }),
})

export const createSecretTlsCommand = defineGenerator({
  name: 'secret tls',
  about: 'Create a Secret with a certificate and its private key.',
  examples: ['orchctl create secret tls site --cert=site.crt --key=site.key'],
  flags: {
    cert: flag({ name: 'cert', value: 'FILE', read: text, help: 'PEM file with the certificate' }),
    key: flag({ name: 'key', value: 'FILE', read: text, help: 'PEM file with the private key' }),
    appendHash: appendHashFlag,
  },
  type: kinds.Secret,
  make: async ({ cert, key }, { context, vendor }) => {
    if (cert === '' || key === '')
      throw new UsageError('--cert and --key are required: specify the files with the certificate and the private key')
    const certificate = read(context, cert)
    const privateKey = read(context, key)
    const parsed = inPem(`--cert: ${cert} contains no certificate`, () => new X509Certificate(certificate))
    // Rejects a key that does not match the certificate, because no server could use them together.
    if (!parsed.checkPrivateKey(inPem(`--key: ${key} contains no private key`, () => createPrivateKey(privateKey))))
      throw new UsageError(`the key ${key} does not match the certificate ${cert}`)
    return {
      type: vendorKey(await vendor(), 'tls'),
      data: { 'tls.crt': certificate.toString('base64'), 'tls.key': privateKey.toString('base64') },
    }
  },
})

function read({ directory }: Context, file: string): Buffer {
  try {
    return readFileSync(resolve(directory, file))
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${codeOf(error)}`)
  }
}

function inPem<T>(otherwise: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${otherwise} in PEM format`, { cause: error })
  }
}

export const createSecretDockerRegistryCommand = defineGenerator({
  name: 'secret docker-registry',
  about: 'Create a Secret with credentials for an image registry.',
  examples: [
    'orchctl create secret docker-registry images --docker-server=registry.example.com --docker-username=me --docker-password=secret',
  ],
  flags: {
    registry: flag({
      name: 'docker-server',
      value: 'ADDRESS',
      default: 'https://index.docker.io/v1/',
      read: text,
      help: 'address of the registry',
    }),
    username: flag({ name: 'docker-username', value: 'NAME', read: text, help: 'user name for the registry' }),
    password: flag({ name: 'docker-password', value: 'PASSWORD', read: text, help: 'password' }),
    email: flag({ name: 'docker-email', value: 'ADDRESS', read: text, help: 'email address of the user' }),
    fromFile: dataFlags.fromFile,
    appendHash: appendHashFlag,
  },
  type: kinds.Secret,
  make: async ({ registry, username, password, email, fromFile }, { vendor, context }) => {
    const type = vendorKey(await vendor(), 'dockerconfigjson')
    if (fromFile.length > 0) return { type, data: loginsOf(context, fromFile) }
    if (username === '' || password === '') throw new UsageError('--docker-username and --docker-password are required')
    const auth = Buffer.from(`${username}:${password}`).toString('base64')
    const login = { username, password, ...(email === '' ? {} : { email }), auth }
    const config = JSON.stringify({ auths: { [registry]: login } })
    return { type, data: { [loginKey]: Buffer.from(config).toString('base64') } }
  },
})

const loginKey = '.dockerconfigjson'

/** Reads a Docker config file with registry credentials. */
function loginsOf(context: Context, fromFile: readonly string[]): { [key: string]: string } {
  const all = [...readData(context, { fromLiteral: [], fromEnvFile: [], fromFile })].map(([key, value]) => [
    key,
    value.toString('base64'),
  ])
  const data: { [key: string]: string } = Object.fromEntries(all)
  if (data[loginKey] === undefined)
    throw new UsageError(`--from-file: the key must be ${loginKey}: use --from-file=${loginKey}=FILE`)
  return data
}
