/**
 * Dynamic configuration of the node agent. The types exist so that stored objects can be decoded. The server drops the
 * fields on write.
 */
import { field, s } from '../../../schema/schema.ts'

const needed = { zeroValue: 'write', published: 'required' } as const

const configMapNodeConfigSource = s.object(
  {
    namespace: field(1, s.string(), { ...needed, doc: 'Namespace of the ConfigMap.' }),
    name: field(2, s.string(), { ...needed, doc: 'Name of the ConfigMap.' }),
    uid: field(3, s.string(), { doc: 'UID of the ConfigMap.' }),
    resourceVersion: field(4, s.string(), { doc: 'Resource version of the ConfigMap.' }),
    kubeletConfigKey: field(5, s.string(), { ...needed, doc: 'Key in the ConfigMap that contains the configuration.' }),
  },
  { name: 'ConfigMapNodeConfigSource', doc: "A ConfigMap that contains the node agent's configuration." },
)

export const nodeConfigSource = s.object(
  {
    configMap: field(2, configMapNodeConfigSource, { doc: "ConfigMap that contains the node agent's configuration." }),
  },
  { name: 'NodeConfigSource', doc: "Source of the node agent's configuration." },
)

export const nodeConfigStatus = s.object(
  {
    assigned: field(1, nodeConfigSource, { doc: 'Configuration that the node agent should use.' }),
    active: field(2, nodeConfigSource, { doc: 'Configuration that the node agent currently uses.' }),
    lastKnownGood: field(3, nodeConfigSource, {
      doc: 'Last working configuration, which the node agent falls back to if the assigned configuration fails.',
    }),
    error: field(4, s.string(), { doc: 'Error that prevents the node agent from using the assigned configuration.' }),
  },
  { name: 'NodeConfigStatus', doc: "Observed status of the node agent's configuration." },
)
