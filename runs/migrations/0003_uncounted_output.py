from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_what_nobody_counted(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """A launch whose process nobody saw exit has had zeros."""
    apps.get_model("runs", "LaunchRecord").objects.filter(exit_code=None, exit_signal=None).update(
        stdout_bytes=None, stderr_bytes=None, withheld_bytes=None
    )


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0002_launches"),
    ]

    operations = [
        *(
            migrations.AlterField(model_name="launchrecord", name=name, field=models.BigIntegerField(null=True))
            for name in ("stdout_bytes", "stderr_bytes", "withheld_bytes")
        ),
        migrations.RunPython(forget_what_nobody_counted, migrations.RunPython.noop),
    ]
