"""A profile's numbers, put on a deployment."""

from typing import Any

from ray.serve import Deployment

from configs.settings import Replicas


def scaled(deployment: Deployment, name: str, numbers: Replicas) -> Deployment:
    """The deployment under its name with autoscaling, queue bounds and resources from the profile.

    One that may have just one replica gets no autoscaling: it is stopped before its successor starts.
    """
    options: dict[str, Any] = {
        "name": name,
        "max_ongoing_requests": numbers.max_ongoing_requests,
        "max_queued_requests": numbers.max_queued_requests,
        "graceful_shutdown_timeout_s": numbers.graceful_shutdown_timeout_s,
        "ray_actor_options": {"num_cpus": numbers.num_cpus, "num_gpus": numbers.num_gpus},
    }
    if numbers.max_replicas > 1:
        options["autoscaling_config"] = {
            "min_replicas": numbers.min_replicas,
            "max_replicas": numbers.max_replicas,
            "target_ongoing_requests": numbers.target_ongoing_requests,
            "upscale_delay_s": numbers.upscale_delay_s,
            "downscale_delay_s": numbers.downscale_delay_s,
        }
    else:
        options["num_replicas"] = 1
    return deployment.options(**options)
