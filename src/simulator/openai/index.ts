// The OpenAI surface of the simulator.
export { createOpenaiSurface } from "./openai-surface.ts";
