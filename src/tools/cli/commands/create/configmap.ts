/** `orchctl create configmap`: creates a ConfigMap from literals and files. */

import { toggle } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { dataFlags, isText, readData } from './data-sources.ts'
import { appendHashFlag, defineGenerator } from './generator.ts'

export const createConfigMapCommand = defineGenerator({
  name: 'configmap',
  about: 'Create a ConfigMap from literals and files.',
  examples: [
    'orchctl create configmap greeting --from-literal=hello=world',
    'orchctl create configmap settings --from-file=app.ini --from-file=logo=logo.png',
  ],
  flags: {
    ...dataFlags,
    appendHash: appendHashFlag,
    immutable: toggle({ name: 'immutable', help: 'make the ConfigMap immutable, so that its data can never change' }),
  },
  type: kinds.ConfigMap,
  make: (options, { context }) => {
    const all = [...readData(context, options)]
    const data = all.filter(([, value]) => isText(value)).map(([key, value]) => [key, value.toString('utf8')])
    const binary = all.filter(([, value]) => !isText(value)).map(([key, value]) => [key, value.toString('base64')])
    return {
      ...(data.length === 0 ? {} : { data: Object.fromEntries(data) }),
      ...(binary.length === 0 ? {} : { binaryData: Object.fromEntries(binary) }),
      ...(options.immutable ? { immutable: true } : {}),
    }
  },
})
