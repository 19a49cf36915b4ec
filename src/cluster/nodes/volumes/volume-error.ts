/** A volume cannot be made, and the message says why. The pod gets it in an Event. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError'
}
