/** `orchctl config set-cluster`: sets fields of a cluster in the kubeconfig. */
import { flag, ifGiven, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags } from './config-files.ts'
import { fileField, setConfigEntry } from './set-entry.ts'

const flags = {
  server: ifGiven(connectionFlags.server),
  certificateAuthority: ifGiven(connectionFlags.certificateAuthority),
  embedCerts: toggle({ name: 'embed-certs', help: 'embed the contents of the certificate file in the kubeconfig' }),
  insecure: ifGiven(
    toggle({ name: 'insecure-skip-tls-verify', help: "skip verification of the server's certificate (insecure)" }),
  ),
  tlsServerName: ifGiven(connectionFlags.tlsServerName),
  proxyUrl: ifGiven(
    flag({
      name: 'proxy-url',
      value: 'URL',
      read: readProxy,
      help: 'URL of an HTTP proxy for connections to the server',
    }),
  ),
  kubeconfig: configFlags.kubeconfig,
}

export const setClusterCommand = defineCommand({
  name: 'config set-cluster',
  forms: ['NAME [flags]'],
  about: 'Set the server address and CA of a cluster. Create the cluster if it does not exist.',
  examples: [
    'orchctl config set-cluster test --server=https://10.0.0.1:6443 --certificate-authority=ca.crt --embed-certs',
  ],
  flags,
  run: async (context, { options, words }) => {
    const { server, certificateAuthority: file, embedCerts: embed, insecure, tlsServerName, kubeconfig } = options
    const authority = ['certificate-authority', 'certificate-authority-data']
    const fields = {
      server,
      'tls-server-name': tlsServerName,
      'proxy-url': options.proxyUrl,
      ...fileField(context, 'certificate-authority', { file, embed }),
      ...(insecure === undefined ? {} : { 'insecure-skip-tls-verify': insecure || '' }),
    }
    const dropped = file ? [...authority, 'insecure-skip-tls-verify'] : insecure ? authority : []
    await setConfigEntry(context, { sort: 'cluster', title: 'Cluster', kubeconfig, words, fields, dropped })
  },
})

function readProxy(value: string): string {
  if (value !== '' && !/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
    throw new UsageError(`${JSON.stringify(value)} is not a valid URL: use a URL such as http://127.0.0.1:3128`)
  return value
}
