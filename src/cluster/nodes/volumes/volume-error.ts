/** Thrown if a volume cannot be created. The message gives the reason and appears in an Event of the pod. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError'
}
