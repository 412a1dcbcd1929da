"""The system's own services: a LaunchAgent or a systemd unit of the user that runs the daemon."""
