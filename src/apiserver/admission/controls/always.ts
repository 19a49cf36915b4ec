/**
 * AlwaysAdmit and AlwaysDeny admit or deny all requests without inspecting them. They are meant for testing clients.
 */
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

const everything = { operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] } as const

export function alwaysAdmit(): Control {
  return { name: 'AlwaysAdmit', handles: everything }
}

export function alwaysDeny(): Control {
  return { name: 'AlwaysDeny', handles: everything, validate: refuse }
}

function refuse(request: AdmissionRequest): never {
  throw refusal(request, 'admission control is denying all modifications')
}
