/** An IngressBackend is the destination of requests, either a Service port or an object of another kind. */

import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkPortName } from '../../../model/names.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkPortNumber } from '../../core/types/handlers.ts'
import { typedLocalObjectReference } from '../../core/types/local-references.ts'
import { checkServiceName } from '../../core/types/service-name.ts'
import { checkTypedReference } from './typed-reference.ts'

const portFields = {
  name: field(1, s.string(), { doc: 'Name of the Service port. Mutually exclusive with `number`.' }),
  number: field(2, s.int32(), { doc: 'Number of the Service port. Mutually exclusive with `name`.' }),
}

const portType = { name: 'ServiceBackendPort', doc: 'A port of a Service, specified by name or by number.' }

const port = s.object(portFields, { ...portType, atomic: true })

const serviceFields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Name of the Service. It must be in the same namespace as the Ingress.',
  }),
  port: field(2, port, {
    earlier: { until: '1.31', schema: s.object(portFields, portType) },
    zeroValue: 'write',
    published: 'optional',
    doc: 'Port of the Service.',
  }),
}

type Service = InferFields<typeof serviceFields>

const service = s.object(serviceFields, {
  name: 'IngressServiceBackend',
  doc: 'A reference to a Service and one of its ports.',
})

const backendFields = {
  service: field(4, service, { doc: 'Service that receives the requests. Mutually exclusive with `resource`.' }),
  resource: field(3, typedLocalObjectReference, {
    doc: 'Object in the same namespace that receives the requests. Mutually exclusive with `service`.',
  }),
}

type Backend = InferFields<typeof backendFields>

export const ingressBackend = s.object(backendFields, {
  name: 'IngressBackend',
  doc: 'Destination to which requests are sent: either a Service or another object.',
  check: checkBackend,
})

function checkBackend({ resource, service }: Backend, path: FieldPath, context: RuleContext): FieldError[] {
  if (resource && service) return [invalid(path, '', 'cannot set both resource and service backends')]
  if (resource) return checkTypedReference(resource, child(path, 'resource'))
  return service ? checkService(service, path, context) : [invalid(path, '', 'resource or service backend is required')]
}

function checkService({ name = '', port = {} }: Service, path: FieldPath, context: RuleContext): FieldError[] {
  const place = child(path, 'service.name')
  const nameFaults = name === '' ? [] : checkServiceName(name, context)
  return [
    ...(name === '' ? [required(place)] : []),
    ...nameFaults.map((fault) => invalid(place, name, fault)),
    ...checkServicePort(port, path),
  ]
}

function checkServicePort({ name = '', number = 0 }: InferFields<typeof portFields>, path: FieldPath): FieldError[] {
  if (name !== '' && number !== 0) return [invalid(path, '', 'cannot set both port name & port number')]
  const place = child(path, 'service.port')
  if (name !== '') return checkPortName(name).map((fault) => invalid(child(place, 'name'), name, fault))
  if (number === 0) return [required(path, 'port name or number is required')]
  return checkPortNumber(number, child(place, 'number'))
}
