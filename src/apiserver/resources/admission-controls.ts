/**
 * Lists the built-in admission plugins in execution order, and reports whether this server enables them
 * (`admissioncontrols`).
 */

import { admissionControl } from '../../api/kinds/ops/admission-control.ts'
import { notFound } from '../../api/model/api-error.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import type { ControlState } from '../admission/controls/all.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

export interface AdmissionControlParts {
  readonly vendor: Vendor
  /** Returns the admission plugins in execution order. The plugins exist only after the server has started. */
  readonly controls: () => readonly ControlState[]
}

export function admissionControls({ vendor, controls }: AdmissionControlParts): Endpoint {
  const apiVersion = apiVersionOf(vendor, admissionControl.group, admissionControl.version)
  const { kind, plural } = admissionControl
  return {
    kind: admissionControl,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: 'Lists the built-in admission plugins and whether they are enabled on this server.',
    answer: ({ verb, name }) => {
      const all = controls().map(describe)
      if (verb === 'list') return { apiVersion, kind: `${kind}List`, metadata: {}, items: all }
      const control = all.find(({ metadata }) => metadata.name === name)
      if (control === undefined) throw notFound({ group: groupName(vendor, 'ops'), plural }, name)
      return { apiVersion, kind, ...control }
    },
  }
}

function describe({ name, byDefault, enabled, steps }: ControlState, index: number) {
  return { metadata: { name }, spec: { position: index + 1, byDefault }, status: { enabled, steps: [...steps] } }
}
