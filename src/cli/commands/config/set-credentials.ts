/** `orchctl config set-credentials` */
import { flag, text, toggle } from '../../../base/flags.ts'
import { defineCommand } from '../../command.ts'
import { configFlags } from './config-files.ts'
import { fileField, setConfigEntry } from './set-entry.ts'

const flags = {
  token: flag('token', 'TOKEN', '', text, 'the bearer token to present'),
  clientCertificate: flag('client-certificate', 'FILE', '', text, 'the certificate to present'),
  clientKey: flag('client-key', 'FILE', '', text, 'the key of that certificate'),
  embedCerts: toggle('embed-certs', 'put the content of these files into the client config'),
  kubeconfig: configFlags.kubeconfig,
}

export const setCredentialsCommand = defineCommand({
  name: 'config set-credentials',
  forms: ['NAME [flags]'],
  about: 'Sets how a user shows who it is. One that is not there is made.',
  examples: [
    'orchctl config set-credentials me --token=abc',
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
      ...(token === '' ? [] : ['tokenFile']),
    ]
    await setConfigEntry(context, {
      sort: 'user',
      title: 'User',
      kubeconfig,
      words,
      fields: { token, ...certificate, ...key },
      dropped,
    })
  },
})

/** Both forms that a file can have in a client config: the new one takes the place of either. */
function forms(field: string, file: string): string[] {
  return file === '' ? [] : [field, `${field}-data`]
}
